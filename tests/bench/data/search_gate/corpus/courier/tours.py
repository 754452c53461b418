from courier.geo import haversine


def plan_tour(depot, stops):
    left, tour, here = list(stops), [depot], depot
    while left:
        here = min(left, key=lambda stop: haversine(here, stop))
        left.remove(here)
        tour.append(here)
    return improve_by_swapping(tour)


def improve_by_swapping(tour):
    improved = True
    while improved:
        improved = False
        for i in range(1, len(tour) - 2):
            swapped = tour[:i] + tour[i : i + 2][::-1] + tour[i + 2 :]
            if length_of(swapped) < length_of(tour):
                tour, improved = swapped, True
    return tour


def length_of(tour):
    return sum(haversine(a, b) for a, b in zip(tour, tour[1:]))


def split_by_capacity(stops, capacity):
    loads, weight = [[]], 0
    for stop in stops:
        if weight + stop.weight > capacity:
            loads.append([])
            weight = 0
        loads[-1].append(stop)
        weight += stop.weight
    return loads
