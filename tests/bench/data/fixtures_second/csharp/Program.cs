using System;
using Clinic.Core;
using Clinic.Services;
using static Clinic.Core.Slot;

var planner = Planner.Create();
var patient = new Patient("ada");
patient.Notified += (_, text) => Show(text);
var visit = await planner.PlanAsync(patient, "2024-01-01");
await planner.DelayAsync(visit!.Id);
patient[visit.Id].Describe();
Show(patient.Latest().Truncate(3));
Parse("2024-01-02").Overlaps(visit.Slot);

static void Show(string text) => Console.WriteLine(text);
