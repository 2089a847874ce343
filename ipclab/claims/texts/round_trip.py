"""shm-rpc-bridge, transport benchmark, in English (seed 003): what each claim compares, and with which bounds.

The words of the claims, and what else the text derives, are in `data/published/003_round_trip.toml`.
"""

from ipclab.claims.told import (
    Claims,
    Stated,
    above,
    at,
    at_least,
    at_most,
    between,
    count,
    each,
    exactly,
)

claim = Claims()


SLOWER = at(
    "round_trip.round-trip[arm=published,backend=zmq-ipc,placement=cross,"
    "size_bytes=100|10000|500000|2000000]"
) / at(
    "round_trip.round-trip[arm=published,backend=shm-rpc-bridge,placement=cross,"
    "size_bytes=100|10000|500000|2000000]"
)
FAIRLY_SLOWER = at(
    "round_trip.round-trip[arm=main,backend=zmq-ipc,placement=same|cross,"
    "size_bytes=100|10000|500000|2000000]"
) / at(
    "round_trip.round-trip[arm=main,backend=posix-shm,placement=same|cross,"
    "size_bytes=100|10000|500000|2000000]"
)


@claim("3.1")
def shared_memory_is_faster() -> Stated:
    """SHM POSIX: 80.68 μs/call, ZeroMQ IPC: 275.65 μs/call (241.7% slower)"""
    return Stated(above(each(SLOWER), "1"), fair=each(FAIRLY_SLOWER))


@claim("3.2")
def zeromq_takes_so_much_longer() -> Stated:
    """241.7% slower, 207.5% slower, 298.1% slower, 227.3% slower"""
    return Stated(between(each(SLOWER), "3.075", "3.981", rounded=True), fair=each(FAIRLY_SLOWER))


@claim("3.3")
def a_round_trip_takes_so_long() -> Stated:
    """SHM POSIX: 80.68 μs/call"""
    return Stated(
        exactly(
            at(
                "round_trip.round-trip[arm=published,backend=shm-rpc-bridge,placement=cross,"
                "size_bytes=100]"
            ),
            "80.68 us",
            rounded=True,
        )
    )


@claim("3.4")
def small_growth_with_size() -> Stated:
    """SHM POSIX: 80.68 μs/call, SHM POSIX: 91.58 μs/call"""
    return Stated(
        at_most(
            at(
                "round_trip.round-trip[arm=published,backend=shm-rpc-bridge,placement=cross,"
                "size_bytes=10000]"
            )
            / at(
                "round_trip.round-trip[arm=published,backend=shm-rpc-bridge,placement=cross,"
                "size_bytes=100]"
            ),
            "1.25",
        ),
        fair=each(
            at(
                "round_trip.round-trip[arm=main,backend=posix-shm,placement=same|cross,"
                "size_bytes=10000]"
            )
            / at(
                "round_trip.round-trip[arm=main,backend=posix-shm,placement=same|cross,"
                "size_bytes=100]"
            )
        ),
    )


@claim("3.5")
def growth_of_the_largest() -> Stated:
    """SHM POSIX: 190.64 μs/call, SHM POSIX: 781.57 μs/call"""
    return Stated(
        between(
            at(
                "round_trip.round-trip[arm=published,backend=shm-rpc-bridge,placement=cross,"
                "size_bytes=2000000]"
            )
            / at(
                "round_trip.round-trip[arm=published,backend=shm-rpc-bridge,placement=cross,"
                "size_bytes=500000]"
            ),
            "3.2",
            "5",
        ),
        fair=each(
            at(
                "round_trip.round-trip[arm=main,backend=posix-shm,placement=same|cross,"
                "size_bytes=2000000]"
            )
            / at(
                "round_trip.round-trip[arm=main,backend=posix-shm,placement=same|cross,"
                "size_bytes=500000]"
            )
        ),
    )


@claim("3.6")
def throughput_is_reported() -> Stated:
    """Throughput: Operations per second (ops/s)"""
    return Stated(
        at_least(
            count(
                at(
                    "round_trip.launch[arm=published,backend=shm-rpc-bridge,placement=cross,"
                    "size_bytes=100|10000|500000|2000000].round_trips_per_second"
                )
            ),
            "4",
        )
    )
