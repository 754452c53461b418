module Desk
  class Ticket < Record
    before_save :normalize, :notify

    STATES = %i[open closed].freeze

    STATES.each do |state|
      define_method("#{state}?") { self.state == state }
    end

    def self.open(title, **rest)
      ticket = create(title: title, **rest)
      ticket.assign(User.guest)
      ticket
    end

    def defaults
      super.merge(state: :open)
    end

    def state = attributes[:state]

    def assign(user)
      @owner = user
      comments << Comment.new(self, "assigned")
      self
    end

    def comments
      @comments ||= []
    end

    def close!
      attributes[:state] = :closed
      save
      last_comment&.excerpt
    end

    def last_comment
      comments.last
    end

    def method_missing(name, *args)
      attributes.key?(name) ? attributes[name] : super
    end

    def respond_to_missing?(name, all = false) = attributes.key?(name) || super

    private

    def normalize
      attributes[:title] = squish(attributes[:title])
    end

    def squish(text)
      text.to_s.strip
    end

    def notify
      Desk.logger&.info(Desk.translate("saved"))
      owner_name
    end

    def owner_name
      @owner ? @owner.display_name : "nobody"
    end
  end

  User = Struct.new(:name) do
    def self.guest
      new("guest")
    end

    def display_name
      name.capitalize
    end
  end

  class Comment
    attr_reader :ticket, :text

    def initialize(ticket, text)
      @ticket, @text = ticket, text
    end

    def excerpt
      text[0, 10]
    end

    alias_method :summary, :excerpt
  end
end
