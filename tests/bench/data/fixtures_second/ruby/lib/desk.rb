require_relative "desk/callbacks"
require_relative "desk/record"
require_relative "desk/ticket"
require_relative "desk/router"

module Desk
  class Error < StandardError
    def hint
      Desk.translate(message)
    end
  end

  class << self
    attr_accessor :logger

    def configure
      yield configuration
      configuration.validate!
    end

    def configuration
      @configuration ||= Configuration.new
    end

    def translate(text)
      text.upcase
    end
  end

  class Configuration
    attr_writer :locale

    def initialize
      reset
    end

    def reset
      @locale = "en"
    end

    def validate!
      raise Error, "locale" if @locale.nil?
    end
  end
end
