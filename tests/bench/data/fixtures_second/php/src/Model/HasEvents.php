<?php

namespace Acme\Desk\Model;

trait HasEvents
{
    private static array $listeners = [];

    public static function on(string $event, callable $listener): void
    {
        self::$listeners[$event][] = $listener;
    }

    protected function fire(string $event): void
    {
        foreach ($this->listenersOf($event) as $listener) {
            $listener($this);
        }
    }

    private function listenersOf(string $event): array
    {
        return self::$listeners[$event] ?? [];
    }
}
