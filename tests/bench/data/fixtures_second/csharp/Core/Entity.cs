using System;
using System.Collections.Generic;
using System.Linq;

namespace Clinic.Core;

public abstract class Entity
{
    protected Entity(Guid id) => Id = id;

    public Guid Id { get; }

    public virtual string Describe() => Id.ToString();
}

public sealed record Slot(DateTime From, TimeSpan Length)
{
    public DateTime Until => From + Length;

    public bool Overlaps(Slot other) => From < other.Until && other.From < Until;

    public static Slot Parse(string text) => new(DateTime.Parse(text), TimeSpan.FromMinutes(30));

    public static Slot operator +(Slot slot, TimeSpan delay) => slot.Shift(delay);

    private Slot Shift(TimeSpan delay) => this with { From = From + delay };
}

public class Visit : Entity
{
    private readonly List<Note> _notes = new();

    public Visit(Slot slot, Patient patient) : base(Guid.NewGuid())
    {
        Slot = slot;
        Patient = patient;
        patient.Attach(this);
    }

    public Slot Slot { get; private set; }

    public Patient Patient { get; }

    public IReadOnlyList<Note> Notes => _notes;

    public Note AddNote(string text)
    {
        Note note = new(text);
        _notes.Add(note.Trimmed());
        return note;
    }

    public void Move(TimeSpan delay)
    {
        Slot += delay;
        Patient.Notify($"moved to {Slot.Until}");
    }

    public override string Describe() => base.Describe() + string.Join(",", _notes.Select(n => n.Preview()));
}

public class Patient : Entity
{
    private readonly Dictionary<Guid, Visit> visits = new();

    public event EventHandler<string>? Notified;

    public Patient(string name) : base(Guid.NewGuid()) => Name = name.Capitalize();

    public string Name { get; }

    internal void Attach(Visit visit) => visits[visit.Id] = visit;

    public void Notify(string text) => Notified?.Invoke(this, text);

    public bool IsFree(Slot slot) => visits.Values.All(visit => !visit.Slot.Overlaps(slot));

    public string Latest() => visits.Values.Last().Describe();

    public Visit this[Guid id] => visits[id];
}

public readonly struct Note
{
    private readonly string text;

    public Note(string text) => this.text = text;

    public Note Trimmed() => new(text.Trim());

    public string Preview() => text.Truncate(10);
}
