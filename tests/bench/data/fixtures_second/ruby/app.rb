require_relative "lib/desk"

Desk.configure do |config|
  config.reset
end

router = Desk::Router.draw do
  get "/tickets", to: :index
end

ticket = Desk::Ticket.open("printer")
ticket.close!
router.call("1")
[ticket].each(&:close!)
Desk::Comment.new(ticket, "x").excerpt

def show(record)
  puts record.display_name
end

show(Desk::User.guest)
