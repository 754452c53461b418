defmodule Chat do
  alias Chat.Room, as: Lobby
  alias Chat.Message

  defdelegate preview(message), to: Message

  def hello(name) do
    {:ok, room} = Lobby.start_link(name: name)
    Lobby.post(room, from: name, body: greet(name))
    run(&Lobby.previews/1, [])
    run(&shout(&1, "!"), name)
    name |> then(&greet/1) |> Lobby.write()
    apply(Lobby, :cleaned, [[]])
  end

  defp run(fun, argument), do: fun.(argument)

  defp shout(text, mark), do: text <> mark

  defp greet(name), do: "hello " <> name
end
