module Desk
  class Record
    include Callbacks
    include Comparable

    attr_reader :id, :attributes

    def self.create(**attributes)
      new(**attributes).tap(&:save)
    end

    def self.find(id)
      store.fetch(id) { raise NotFound.new(self, id) }
    end

    def self.store
      @store ||= Store.new
    end

    def initialize(**attributes)
      @attributes = defaults.merge(attributes)
      @id = self.class.next_id
    end

    def self.next_id
      @next_id = (@next_id || 0) + 1
    end

    def defaults
      {}
    end

    def save
      run_callbacks
      store.put(self)
      self
    end

    def <=>(other)
      id <=> other.id
    end

    def store
      self.class.store
    end
  end

  class Store
    def initialize
      @rows = {}
    end

    def put(record)
      @rows[record.id] = record
      trim if @rows.size > LIMIT
    end

    def fetch(id)
      @rows.fetch(id) { yield }
    end

    LIMIT = 10

    private

    def trim
      @rows.shift
    end
  end

  class NotFound < Error
    def initialize(type, id)
      super("#{type} #{id}")
    end
  end
end
