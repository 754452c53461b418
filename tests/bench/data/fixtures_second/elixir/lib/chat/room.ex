defmodule Chat.Room do
  use GenServer

  require Logger
  alias Chat.{Echo, Message, Text}
  import Chat.Guards

  @default_handlers [Echo]

  def start_link(opts), do: GenServer.start_link(__MODULE__, opts, name: name(opts))

  def post(room, fields) do
    message = Message.new!(fields)
    GenServer.call(room, {:post, message})
  end

  def previews(messages), do: Enum.map(messages, &Message.preview/1)

  def cleaned(texts) do
    texts
    |> Enum.map(&Text.clean(&1))
    |> Enum.reject(&failed?/1)
    |> Enum.each(fn {:ok, text} -> log(text) end)
  end

  @impl true
  def init(opts) do
    {:ok, initial(opts), {:continue, :load}}
  end

  @impl true
  def handle_call({:post, message}, _from, state) when is_message(message) do
    state = dispatch(state, message)
    {:reply, :ok, state}
  end

  @impl GenServer
  def handle_continue(:load, state), do: {:noreply, load(state)}

  defp dispatch(%{handlers: handlers} = state, message) do
    Enum.reduce(handlers, state, fn handler, acc ->
      {:ok, acc} = handler.handle(message, acc)
      acc
    end)
  end

  defp initial(opts) do
    handlers = Keyword.get(opts, :handlers, @default_handlers)
    %{handlers: handlers, echo: Echo.handle(%Message{}, %{})}
  end

  defp load(state) do
    Logger.info("load")
    if debug?(), do: log("loaded"), else: log("x")
    state
  end

  defp debug?, do: Application.get_env(:chat, :debug, false)

  defp failed?({:error, _}), do: true
  defp failed?(_), do: false

  defp log(text) do
    __MODULE__.write(text)
  end

  def write(text), do: IO.puts(text)

  defp name(opts), do: Keyword.fetch!(opts, :name)
end

defmodule Chat.Guards do
  defguard is_message(value) when is_struct(value, Chat.Message)
end
