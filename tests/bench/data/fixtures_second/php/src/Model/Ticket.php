<?php

namespace Acme\Desk\Model;

use function Acme\Desk\slug;

class Ticket extends Model
{
    private ?User $owner = null;
    /** @var Comment[] */
    private array $comments = [];

    protected static function booted(): void
    {
        self::on('saving', fn (Ticket $ticket) => $ticket->touch());
    }

    public function touch(): self
    {
        return $this->set('touched', time());
    }

    public function label(): string
    {
        return slug($this->attributes['title'] ?? '');
    }

    public function assign(User $user): static
    {
        $this->owner = $user;
        $user->notify($this->label());
        return $this;
    }

    public function comment(string $text): Comment
    {
        $comment = new Comment($text, $this);
        $this->comments[] = $comment;
        $this->owner?->notify($comment->excerpt());
        return $comment;
    }

    public function digest(): string
    {
        $text = '';
        foreach ($this->comments as $comment) {
            $text .= $comment->excerpt();
        }
        return $text . $this->owner->displayName();
    }

    protected function store(): Store
    {
        return Store::instance();
    }
}

class User extends Model
{
    public function notify(string $text): void
    {
        Store::instance()->log("{$this->displayName()}: $text");
    }

    public function displayName(): string
    {
        return $this->attributes['name'] ?? 'nobody';
    }

    protected function store(): Store
    {
        return Store::instance();
    }
}

final class Comment
{
    public function __construct(private readonly string $text, private readonly Ticket $ticket)
    {
    }

    public function excerpt(): string
    {
        return substr($this->text, 0, 10);
    }

    public function reply(string $text): self
    {
        return $this->ticket->comment($text);
    }
}
