defmodule Chat.MixProject do
  use Mix.Project

  def project do
    [app: :chat, version: "0.1.0", deps: deps()]
  end

  defp deps, do: []
end
