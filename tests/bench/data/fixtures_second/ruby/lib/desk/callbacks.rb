module Desk
  module Callbacks
    def self.included(base)
      base.extend(ClassMethods)
    end

    module ClassMethods
      def before_save(*names, &block)
        callbacks.concat(names)
        callbacks << block if block
      end

      def callbacks
        @callbacks ||= []
      end
    end

    def run_callbacks
      self.class.callbacks.each { |name| invoke(name) }
    end

    private

    def invoke(callback)
      callback.is_a?(Symbol) ? send(callback) : instance_exec(&callback)
    end
  end
end
