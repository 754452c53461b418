using System;
using System.Collections.Generic;

namespace Clinic.Core;

public static class TextExtensions
{
    public static string Capitalize(this string text) => char.ToUpper(text[0]) + text.Substring(1);

    public static string Truncate(this string text, int length)
        => text.Length <= length ? text : Cut(text, length);

    private static string Cut(string text, int length) => text[..length];
}

public static class SequenceExtensions
{
    public static IEnumerable<Visit> In(this IEnumerable<Visit> visits, Slot slot)
    {
        foreach (var visit in visits)
        {
            if (visit.Slot.Overlaps(slot))
            {
                yield return visit;
            }
        }
    }

    public static T? FirstOrNothing<T>(this IEnumerable<T> items) where T : class
    {
        foreach (T item in items)
        {
            return item;
        }
        return null;
    }
}
