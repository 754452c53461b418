<?php

declare(strict_types=1);

namespace Acme\Desk\Model;

use Acme\Desk\Http\Json;

abstract class Model implements \JsonSerializable
{
    use HasEvents;

    protected array $attributes = [];

    final public function __construct(array $attributes = [])
    {
        $this->fill($attributes);
        static::booted();
    }

    public static function make(array $attributes = []): static
    {
        return new static($attributes);
    }

    protected static function booted(): void
    {
    }

    public function fill(array $attributes): static
    {
        foreach ($attributes as $key => $value) {
            $this->set($key, $value);
        }
        return $this;
    }

    public function set(string $key, mixed $value): static
    {
        $this->attributes[$key] = $value;
        return $this;
    }

    public function save(): bool
    {
        $this->fire('saving');
        return $this->store()->write($this);
    }

    abstract protected function store(): Store;

    public function jsonSerialize(): array
    {
        return $this->attributes;
    }

    public function toJson(): string
    {
        return Json::encode($this);
    }

    public static function query(): Query
    {
        return new Query(static::class);
    }
}
