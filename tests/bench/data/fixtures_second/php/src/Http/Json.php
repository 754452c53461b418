<?php

namespace Acme\Desk\Http;

final class Json
{
    public static function encode(mixed $value): string
    {
        return self::check(json_encode($value));
    }

    private static function check(string|false $text): string
    {
        return $text === false ? throw new JsonException('json') : $text;
    }
}

class JsonException extends \RuntimeException
{
}
