using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading.Tasks;
using Clinic.Core;

namespace Clinic.Services;

public interface IStorage<T> where T : Entity
{
    Task<T?> FindAsync(Guid id);

    Task SaveAsync(T entity);

    IEnumerable<T> All();
}

public abstract class StorageBase<T> : IStorage<T> where T : Entity
{
    public abstract Task<T?> FindAsync(Guid id);

    public virtual Task SaveAsync(T entity)
    {
        Validate(entity);
        return Task.CompletedTask;
    }

    public abstract IEnumerable<T> All();

    protected virtual void Validate(T entity) => Log.Write(entity.Describe());
}

public class MemoryStorage<T> : StorageBase<T> where T : Entity
{
    private readonly ConcurrentDictionary<Guid, T> items = new();

    public override Task<T?> FindAsync(Guid id) => Task.FromResult(items.TryGetValue(id, out var item) ? item : null);

    public override async Task SaveAsync(T entity)
    {
        await base.SaveAsync(entity);
        items[entity.Id] = entity;
    }

    public override IEnumerable<T> All() => items.Values;
}

public sealed class VisitStorage : MemoryStorage<Visit>
{
    protected override void Validate(Visit entity)
    {
        base.Validate(entity);
        entity.Patient.Notify("saved");
    }
}

internal static class Log
{
    private static readonly Lazy<Sink> sink = new(() => new Sink());

    public static void Write(string text) => sink.Value.Append(text);

    private sealed class Sink
    {
        public void Append(string text) => Console.WriteLine(text);
    }
}
