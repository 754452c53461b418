<?php

namespace Acme\Desk;

use Acme\Desk\Model\Ticket;

function slug(string $text): string
{
    return strtolower(trim_all($text));
}

function trim_all(string $text): string
{
    return trim($text);
}

/**
 * @param Ticket[] $tickets
 */
function labels(array $tickets): array
{
    return array_map(fn (Ticket $ticket) => $ticket->label(), $tickets);
}
