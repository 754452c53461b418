<?php

namespace Acme\Desk\Http;

use Acme\Desk\Model\{Comment, Ticket, User as Person};
use function Acme\Desk\labels;

interface Responder
{
    public function respond(string $body): void;
}

class Controller
{
    public function __construct(private Responder $responder, protected ?Person $user = null)
    {
    }

    public function show(int $id): void
    {
        $ticket = Ticket::query()->where('id', $id)->first();
        if ($ticket instanceof Ticket) {
            $this->responder->respond($ticket->toJson());
        }
    }

    public function create(array $input): Ticket
    {
        $ticket = Ticket::make($input)->assign($this->user ?? Person::make());
        $ticket->save();
        [$first, $second] = $this->pair();
        $first->touch();
        $reply = $ticket->comment('hi')->reply('ho');
        $reply->excerpt();
        $this->respondAll($ticket, $second);
        return $ticket;
    }

    /** @return array{Ticket, Ticket} */
    private function pair(): array
    {
        return [new Ticket(), new Ticket()];
    }

    private function respondAll(Ticket ...$tickets): void
    {
        array_walk($tickets, [$this, 'respondOne']);
        $this->responder->respond(implode(',', labels($tickets)));
    }

    public function respondOne(Ticket $ticket): void
    {
        $send = function (string $text) {
            $this->responder->respond($text);
        };
        $send($ticket->digest());
    }
}

$controller = new Controller(new class implements Responder {
    public function respond(string $body): void
    {
        echo $body;
    }
});
$controller->show(1);
