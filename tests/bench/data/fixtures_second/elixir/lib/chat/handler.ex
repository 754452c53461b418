defmodule Chat.Handler do
  @callback handle(message :: Chat.Message.t(), state :: map) :: {:ok, map}
  @callback init(opts :: keyword) :: map
  @optional_callbacks init: 1

  defmacro __using__(opts) do
    quote do
      @behaviour Chat.Handler
      import Chat.Handler, only: [reply: 2]

      def init(_opts), do: Map.new(unquote(opts))

      defoverridable init: 1
    end
  end

  def reply(state, text), do: update(state, text)

  defp update(state, text), do: Map.put(state, :reply, text)
end

defmodule Chat.Echo do
  use Chat.Handler, name: :echo

  alias Chat.Message

  @impl true
  def handle(message, state) do
    state
    |> count()
    |> reply(Message.preview(message, 5))
    |> ok()
  end

  defp count(state), do: Map.update(state, :count, 1, &increment/1)

  defp increment(value), do: value + 1

  defp ok(state), do: {:ok, state}
end
