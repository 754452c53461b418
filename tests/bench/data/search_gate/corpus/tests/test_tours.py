from courier.tours import plan_tour, split_by_capacity


def test_a_tour_begins_at_the_depot():
    assert plan_tour((0, 0), [(1, 1)])[0] == (0, 0)


def test_loads_do_not_exceed_the_capacity():
    assert split_by_capacity([], 100) == [[]]
