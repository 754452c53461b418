module Desk
  class Router
    def self.draw(&block)
      new.tap { |router| router.instance_eval(&block) }
    end

    def initialize
      @routes = Hash.new { |hash, key| hash[key] = [] }
    end

    def get(path, to:)
      add(:get, path, to)
    end

    def call(path)
      ticket = Ticket.find(path.to_i)
      render(ticket)
    rescue NotFound => error
      error.hint
    end

    private

    def add(verb, path, to)
      @routes[verb] << Route.new(path, to)
    end

    def render(ticket)
      view = View.new(ticket)
      view.render
    end

    Route = Struct.new(:path, :to)

    class View
      def initialize(ticket)
        @ticket = ticket
      end

      def render
        lines.map { |line| escape(line) }.join
      end

      def lines
        [@ticket.state, @ticket.last_comment]
      end

      private

      def escape(line)
        CGI.escape(line.to_s)
      end
    end
  end
end
