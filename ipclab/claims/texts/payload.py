"""LDM-EKI, report on IPC performance, in Korean (seed 000): what each claim compares, and with which bounds.

The words of the claims, and what else the text derives, are in `data/published/000_payload.toml`.
"""

from ipclab.claims.told import (
    Claims,
    Stated,
    above,
    at,
    at_least,
    at_most,
    below,
    between,
    each,
    exact,
    exactly,
)

claim = Claims()


WRITE = at("payload.write[arm=published,size_bytes=1384120].mean")
READ = at("payload.read[arm=published,size_bytes=1384120].mean")
WRITE_OPENING = (
    at("payload.write.open[arm=mapping,mapping=reopened,size_bytes=84]")
    + at("payload.write.map[arm=mapping,mapping=reopened,size_bytes=84]")
    + at("payload.write.unmap[arm=mapping,mapping=reopened,size_bytes=84]")
    + at("payload.write.close[arm=mapping,mapping=reopened,size_bytes=84]")
) / at("payload.write[arm=mapping,mapping=reopened,size_bytes=84]")
READ_OPENING = (
    at("payload.read.open[arm=mapping,mapping=reopened,size_bytes=84]")
    + at("payload.read.map[arm=mapping,mapping=reopened,size_bytes=84]")
    + at("payload.read.unmap[arm=mapping,mapping=reopened,size_bytes=84]")
    + at("payload.read.close[arm=mapping,mapping=reopened,size_bytes=84]")
) / at("payload.read[arm=mapping,mapping=reopened,size_bytes=84]")
MOVED = at("payload.write[arm=published,size_bytes=1384120].size_bytes")
DIMENSIONS = (
    at("payload.text[].receptors")
    * at("payload.text[].timesteps")
    * at("payload.text[].bytes_per_float")
)
PRINTED_BYTES = at("payload.text[size_bytes=max].floats") * exact("4 B")
RATIOS = at("payload.write[arm=published,size_bytes=88|14152|1384120].mean") / at(
    "payload.read[arm=published,size_bytes=88|14152|1384120].mean"
)
FAIR_RATIOS = at(
    "payload.write[arm=mapping,mapping=reopened|kept,size_bytes=84|13824|1382400]"
) / at("payload.read[arm=mapping,mapping=reopened|kept,size_bytes=84|13824|1382400]")
SPREADS = at("payload.write|read[arm=published,size_bytes=88|14152|1384120].sd") / at(
    "payload.write|read[arm=published,size_bytes=88|14152|1384120].mean"
)
PAST = at(
    "payload.handover[arm=tcp,receive=recv-4096,codec=raw,connection=new,nodelay=off,"
    "placement=cross,size_bytes=1382400]"
)
PAST_SPEED = at(
    "payload.handover[arm=tcp,receive=recv-4096,codec=raw,connection=new,nodelay=off,"
    "placement=cross,size_bytes=1382400].bandwidth"
)
PAST_LAUNCHES = at(
    "payload.handover[arm=tcp,receive=recv-4096,codec=raw,connection=new,nodelay=off,"
    "placement=cross,size_bytes=1382400].launches"
)
PAST_LATENCIES = each(
    at("payload.transfer[section=4.3].past_latency_low")
    / at("payload.write[section=4.3].mean_rounded"),
    at("payload.transfer[section=4.3].past_latency_high")
    / at("payload.write[section=4.3].mean_rounded"),
)
PICKLED = at(
    "payload.handover[arm=tcp,receive=recv-1mib,codec=raw,connection=new,nodelay=off,"
    "placement=cross,size_bytes=1382400]"
) / at(
    "payload.handover[arm=tcp,receive=recv-1mib,codec=pickle-5,connection=new,"
    "nodelay=off,placement=cross,size_bytes=1382400]"
)
SOUND_SPEED = at(
    "payload.handover[arm=tcp,receive=recv-into,codec=raw,connection=kept,nodelay=on,"
    "placement=same|cross,size_bytes=1382400].bandwidth"
)
TRANSFER = at("payload.write[arm=mapping,mapping=truncated,size_bytes=1382400]") + at(
    "payload.read[arm=mapping,mapping=truncated,size_bytes=1382400]"
)
NOW = at("payload.handover[arm=handover,backend=shm-mmap,placement=cross,size_bytes=1382400]")
FLUSH = at(
    "payload.write.flush[arm=mapping,mapping=reopened|truncated|kept,size_bytes=1382400]"
) / at("payload.write[arm=mapping,mapping=reopened|truncated|kept,size_bytes=1382400]")
FLUSH_SHARE = at("payload.write.flush[arm=mapping,mapping=reopened,size_bytes=1382400]") / at(
    "payload.write[arm=mapping,mapping=reopened,size_bytes=1382400]"
)


@claim("0.1")
def reads_are_two_to_three_times_as_fast() -> Stated:
    """읽기가 쓰기보다 2-3배 빠름"""
    return Stated(
        between(WRITE / READ, "2", "3", rounded=True),
        fair=each(
            at("payload.write[arm=mapping,mapping=reopened|kept,size_bytes=1382400]")
            / at("payload.read[arm=mapping,mapping=reopened|kept,size_bytes=1382400]")
        ),
    )


@claim("0.1b")
def reads_are_faster_at_every_size() -> Stated:
    """읽기가 쓰기보다 2-3배 빠름"""
    return Stated(above(each(RATIOS), "1"), fair=each(FAIR_RATIOS))


@claim("0.2")
def deviations_are_a_tenth_to_three_of_means() -> Stated:
    """표준편차: 평균의 10-30%"""
    return Stated(between(each(SPREADS), "10 %", "30 %", rounded=True))


@claim("0.3")
def deviations_are_below_a_tenth() -> Stated:
    """안정성: 표준편차 < 10%"""
    return Stated(
        below(
            each(
                at("payload.write|read[arm=published,size_bytes=1384120].sd")
                / at("payload.write|read[arm=published,size_bytes=1384120].mean")
            ),
            "10 %",
        )
    )


@claim("0.4")
def writes_reach_their_bandwidth() -> Stated:
    """주요 데이터 전송(1.32 MB)에서 1.85 GB/s 이상의 대역폭을 달성하였다"""
    return Stated(at_least(MOVED / WRITE, "1.85 GB/s", rounded=True))


@claim("0.5")
def reads_reach_their_bandwidth() -> Stated:
    """1.32 MB 데이터 전송 시 1.85 GB/s의 쓰기 속도와 5.82 GB/s의 읽기 속도를 기록하였다"""
    return Stated(at_least(MOVED / READ, "5.82 GB/s", rounded=True))


@claim("0.6")
def opening_and_closing_dominate() -> Stated:
    """매우 작은 데이터는 파일 열기/닫기 오버헤드가 지배적"""
    return Stated(at_least(each(WRITE_OPENING, READ_OPENING), "50 %"))


@claim("0.7")
def flush_makes_writes_slow() -> Stated:
    """이유: 읽기는 캐시 활용, 쓰기는 flush() 필요"""
    return Stated(at_least(FLUSH_SHARE, "10 %"), fair=each(FLUSH))


@claim("0.8")
def a_write_is_close_to_the_memory() -> Stated:
    """메모리-메모리 직접 복사의 이론적 상한(RAM 대역폭)에 근접한 수치이다"""
    return Stated(
        at_most(
            at("payload.write[arm=mapping,mapping=reopened,size_bytes=1382400]")
            / at("payload.write[arm=mapping,mapping=kept,size_bytes=1382400]"),
            "1.25",
        )
    )


@claim("0.9")
def the_estimate_of_past_speed() -> Stated:
    """최종 추정: 90-100 MB/s"""
    return Stated(between(PAST_SPEED, "90 MB/s", "100 MB/s", rounded=True))


@claim("0.10")
def shared_memory_moves_more() -> Stated:
    """속도: 18-58배 향상"""
    return Stated(
        between(
            each(MOVED / WRITE / PAST_SPEED, MOVED / READ / PAST_SPEED), "18", "58", rounded=True
        ),
        own=each(
            at("payload.write|read[section=3.1,size_bytes=max].bandwidth")
            / at("payload.transfer[].past_bandwidth")
        ),
        fair=each(
            at(
                "payload.handover[arm=tcp,receive=recv-4096,codec=raw,connection=new,nodelay=off,"
                "placement=same|cross,size_bytes=1382400]"
            )
            / at(
                "payload.handover[arm=handover,backend=shm-mmap,placement=same|cross,"
                "size_bytes=1382400]"
            )
        ),
    )


@claim("0.11")
def twenty_iterations_take_so_long() -> Stated:
    """EKI 20회 반복 전송 시간: ~19 ms"""
    return Stated(exactly((WRITE + READ) * 20, "19 ms", rounded=True))


@claim("0.12")
def sizes_are_those_of_the_program() -> Stated:
    """LDM-EKI에서 실제 전송하는 데이터 크기와 동일"""
    return Stated(
        exactly(
            each(
                at("payload.text[size_bytes=88].floats") * exact("4 B") / exact("84 B"),
                at("payload.text[size_bytes=14152].floats") * exact("4 B") / DIMENSIONS,
                at("payload.text[size_bytes=1384120].floats")
                * exact("4 B")
                / (DIMENSIONS * at("payload.text[].ensemble")),
            ),
            "1",
        )
    )


@claim("0.13")
def the_past_cannot_be_measured() -> Stated:
    """v0.9 코드가 현재 없어 실측 불가능"""
    return Stated(exactly(PAST_LAUNCHES, "0"))


@claim("0.14")
def the_past_took_longer() -> Stated:
    """지연 감소: ~10-35ms → 0.71ms (~15-50배 빠름)"""
    return Stated(
        between(PAST / WRITE, "15", "50", rounded=True),
        own=PAST_LATENCIES,
        fair=each(
            at(
                "payload.handover[arm=tcp,receive=recv-4096,codec=raw,connection=new,nodelay=off,"
                "placement=same|cross,size_bytes=1382400]"
            )
            / at(
                "payload.handover[arm=handover,backend=shm-mmap,placement=same|cross,"
                "size_bytes=1382400]"
            )
        ),
    )


@claim("0.15")
def one_stream_moves_so_much_at_most() -> Stated:
    """단일 스트림 (LDM-EKI처럼): ~1 Gbps = 125 MB/s"""
    return Stated(at_most(PAST_SPEED, "125 MB/s", rounded=True), fair=each(SOUND_SPEED))


@claim("0.16")
def pickle_costs_a_fifth() -> Stated:
    """Python pickle 직렬화: -20% → ~100 MB/s"""
    return Stated(
        exactly(PICKLED, "0.80", rounded=True),
        fair=each(
            at(
                "payload.handover[arm=tcp,receive=recv-1mib,codec=raw,connection=new,nodelay=off,"
                "placement=same|cross,size_bytes=1382400]"
            )
            / at(
                "payload.handover[arm=tcp,receive=recv-1mib,codec=pickle-0|pickle-5,"
                "connection=new,nodelay=off,placement=same|cross,size_bytes=1382400]"
            )
        ),
    )
