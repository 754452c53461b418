<?php

namespace Acme\Desk\Model;

class Store
{
    private static ?self $instance = null;
    private array $rows = [];

    public static function instance(): self
    {
        return self::$instance ??= new self();
    }

    public function write(Model $model): bool
    {
        $this->rows[] = $model->jsonSerialize();
        $this->log('write');
        return true;
    }

    public function log(string $line): void
    {
        error_log($line);
    }

    /** @return Ticket|null */
    public function find(string $class, int $id)
    {
        return isset($this->rows[$id]) ? $class::make($this->rows[$id]) : null;
    }
}

class Query
{
    private array $wheres = [];

    public function __construct(private string $class)
    {
    }

    public function where(string $key, mixed $value): self
    {
        $this->wheres[] = [$key, $value];
        return $this;
    }

    public function first()
    {
        return Store::instance()->find($this->class, 0);
    }
}
