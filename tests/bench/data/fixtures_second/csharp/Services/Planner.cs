using System;
using System.Linq;
using System.Threading.Tasks;
using Clinic.Core;
using Storage = Clinic.Services.IStorage<Clinic.Core.Visit>;

namespace Clinic.Services;

public delegate void PlannedHandler(Visit visit);

public partial class Planner
{
    private readonly Storage storage;
    private readonly Func<DateTime> clock;

    public event PlannedHandler? Planned;

    public Planner(Storage storage, Func<DateTime>? clock = null)
    {
        this.storage = storage ?? throw new ArgumentNullException(nameof(storage));
        this.clock = clock ?? (() => DateTime.Now);
        Planned += OnPlanned;
    }

    public async Task<Visit?> PlanAsync(Patient patient, string text)
    {
        var slot = Slot.Parse(text);
        if (!patient.IsFree(slot) || IsBusy(slot))
        {
            return null;
        }
        var visit = new Visit(slot, patient);
        visit.AddNote("planned").Preview();
        await storage.SaveAsync(visit);
        Planned?.Invoke(visit);
        return visit;
    }

    private bool IsBusy(Slot slot) => storage.All().In(slot).Any();

    private void OnPlanned(Visit visit) => Count(visit.Notes.Count);

    public static Planner Create() => new Planner(new VisitStorage());
}

public partial class Planner
{
    private int total;

    private void Count(int notes) => total += notes;

    public async Task DelayAsync(Guid id)
    {
        Visit? visit = await storage.FindAsync(id);
        visit?.Move(TimeSpan.FromHours(1));
        if (await storage.FindAsync(id) is { } found)
        {
            found.Describe();
        }
        storage.All().FirstOrNothing()?.Describe();
        foreach (var note in visit!.Notes)
        {
            note.Preview();
        }
    }
}
