defmodule Chat.Message do
  @moduledoc false
  alias Chat.Text
  alias __MODULE__

  defstruct [:from, :body, at: nil]

  @type t :: %__MODULE__{from: String.t(), body: String.t()}

  @spec new(keyword) :: {:ok, t} | {:error, term}
  def new(fields) do
    with {:ok, body} <- Text.clean(fields[:body]),
         :ok <- validate(body) do
      {:ok, %Message{from: fields[:from], body: body} |> stamp()}
    end
  end

  def new!(fields) do
    case new(fields) do
      {:ok, message} -> message
      {:error, reason} -> raise Chat.Error, reason: reason
    end
  end

  defp validate(""), do: {:error, :empty}
  defp validate(_), do: :ok

  defp stamp(%__MODULE__{} = message), do: %{message | at: now()}

  defp now, do: System.system_time()

  def preview(%Message{body: body}, length \\ 10), do: Text.cut(body, length)

  defimpl String.Chars do
    def to_string(message), do: Chat.Message.preview(message)
  end
end

defmodule Chat.Error do
  defexception [:reason]

  @impl true
  def message(%{reason: reason}), do: describe(reason)

  defp describe(reason), do: inspect(reason)
end

defmodule Chat.Text do
  def clean(nil), do: {:error, :missing}

  def clean(text) do
    text = text |> String.trim() |> collapse()
    {:ok, text}
  end

  def cut(text, length), do: String.slice(text, 0, length)

  defp collapse(text), do: Regex.replace(~r/\s+/, text, " ")
end
