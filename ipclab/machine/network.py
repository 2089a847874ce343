"""Facts about sockets: buffers, queues and the loopback device."""

from ipclab.machine.registry import Group

GROUP = Group("network", "Sockets")
CORE = "/proc/sys/net/core"
TCP = "/proc/sys/net/ipv4"


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


GROUP.file("socket_receive_default", "Receive buffer, default", f"{CORE}/rmem_default", unit="bytes")
GROUP.file("socket_receive_max", "Receive buffer, largest", f"{CORE}/rmem_max", unit="bytes")
GROUP.file("socket_send_default", "Send buffer, default", f"{CORE}/wmem_default", unit="bytes")
GROUP.file("socket_send_max", "Send buffer, largest", f"{CORE}/wmem_max", unit="bytes")
GROUP.file(
    "tcp_receive",
    "TCP receive buffer: least, default, largest",
    f"{TCP}/tcp_rmem",
    _numbers,
    list,
    unit="bytes",
)
GROUP.file("tcp_send", "TCP send buffer: least, default, largest", f"{TCP}/tcp_wmem", _numbers, list, unit="bytes")
GROUP.file("tcp_congestion", "TCP congestion control", f"{TCP}/tcp_congestion_control", str, str)
GROUP.file("tcp_autocorking", "TCP joins small writes", f"{TCP}/tcp_autocorking")
GROUP.file("tcp_fast_open", "TCP fast open", f"{TCP}/tcp_fastopen")
GROUP.file("listen_backlog", "Longest listen queue", f"{CORE}/somaxconn")
GROUP.file("device_backlog", "Longest device queue", f"{CORE}/netdev_max_backlog")
GROUP.file("busy_polling", "Busy polling of sockets", f"{CORE}/busy_poll")
GROUP.file("unix_queue", "Datagrams queued on a local socket", "/proc/sys/net/unix/max_dgram_qlen")
GROUP.file("loopback_mtu", "Loopback packet", "/sys/class/net/lo/mtu", unit="bytes")
