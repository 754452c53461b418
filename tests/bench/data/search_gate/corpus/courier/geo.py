from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS_KM = 6371


def haversine(a, b):
    lat1, lon1, lat2, lon2 = map(radians, (*a, *b))
    inner = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * asin(sqrt(inner))


def district_of(point, districts):
    return next((name for name, area in districts.items() if contains(area, point)), None)


def contains(area, point):
    south, west, north, east = area
    return south <= point[0] <= north and west <= point[1] <= east
