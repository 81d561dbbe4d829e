# SPDX-License-Identifier: MIT
"""The names of what an answer of rdma_init_qp_attr is made of: states, bits of the
mask, fields, and how a field's value is best read."""
import ipaddress

STATES = ("0", "1", "2", "3", "4", "5", "6", "7", "99")
STATE_NAMES = ("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")

# By bit number, as in lib/attr/names.cpp.
MASK_BITS = (
    "STATE", "CUR_STATE", "EN_SQD_ASYNC_NOTIFY", "ACCESS_FLAGS", "PKEY_INDEX", "PORT",
    "QKEY", "AV", "PATH_MTU", "TIMEOUT", "RETRY_CNT", "RNR_RETRY", "RQ_PSN",
    "MAX_QP_RD_ATOMIC", "ALT_PATH", "MIN_RNR_TIMER", "SQ_PSN", "MAX_DEST_RD_ATOMIC",
    "PATH_MIG_STATE", "CAP", "DEST_QPN", "SMAC", "ALT_SMAC", "VID", "ALT_VID",
    "RATE_LIMIT",
)
ACCESS_BITS = {
    0: "LOCAL_WRITE", 1: "REMOTE_WRITE", 2: "REMOTE_READ", 3: "REMOTE_ATOMIC",
    4: "MW_BIND", 5: "ZERO_BASED", 6: "ON_DEMAND", 7: "HUGETLB", 8: "FLUSH_GLOBAL",
    9: "FLUSH_PERSISTENT", 20: "RELAXED_ORDERING",
}

# In the order of struct ibv_qp_attr; those that are not here come after them.
AH = ("dlid", "sl", "src_path_bits", "static_rate", "is_global", "port_num", "grh.dgid",
      "grh.flow_label", "grh.sgid_index", "grh.hop_limit", "grh.traffic_class")
FIELDS = (
    "qp_state", "cur_qp_state", "path_mtu", "path_mig_state", "qkey", "rq_psn", "sq_psn",
    "dest_qp_num", "qp_access_flags", "cap.max_send_wr", "cap.max_recv_wr",
    "cap.max_send_sge", "cap.max_recv_sge", "cap.max_inline_data",
    *("ah_attr." + each for each in AH), *("alt_ah_attr." + each for each in AH),
    "pkey_index", "alt_pkey_index", "en_sqd_async_notify", "sq_draining", "max_rd_atomic",
    "max_dest_rd_atomic", "min_rnr_timer", "port_num", "timeout", "retry_cnt",
    "rnr_retry", "alt_port_num", "alt_timeout", "rate_limit",
)
FIELD_ORDER = {name: at for at, name in enumerate(FIELDS)}

RELEASES = ("bullseye", "bookworm", "trixie", "sid")


def state_name(state):
    at = int(state)
    return STATE_NAMES[at] if 0 <= at < len(STATE_NAMES) else str(state)


def states_text(states):
    """What a row of a table is about."""
    if tuple(states) == STATES:
        return "every state"
    return ", ".join(state_name(each) for each in states)


def bits_of(value, names):
    """Names of the bits that are set; one that has none is told by its value."""
    known = names if isinstance(names, dict) else dict(enumerate(names))
    return [known.get(bit, hex(1 << bit)) for bit in range(64) if value >> bit & 1]


def mask_names(mask):
    return bits_of(int(mask, 0), MASK_BITS)


def in_order(fields):
    return sorted(fields, key=lambda name: (FIELD_ORDER.get(name, len(FIELDS)), name))


def gid_text(value):
    try:
        address = ipaddress.IPv6Address(int(value, 16))
    except ValueError:
        return value
    mapped = address.ipv4_mapped
    return f"::ffff:{mapped}" if mapped else str(address)


def value_text(field, value):
    """A number with its name, where verbs has one; anything strange as it came."""
    if value == "*":
        return value
    if field.endswith("dgid"):
        return gid_text(value)
    if not value.isdigit():
        return value
    number = int(value)
    if field in ("qp_state", "cur_qp_state") and number < len(STATE_NAMES):
        return f"{value} ({STATE_NAMES[number]})"
    if field == "path_mtu" and 1 <= number <= 5:
        return f"{value} ({128 << number} bytes)"
    if field == "qp_access_flags" and number:
        return f"{number:#x} ({' | '.join(bits_of(number, ACCESS_BITS))})"
    if field in ("qkey", "ah_attr.dlid", "alt_ah_attr.dlid"):
        return f"{number:#x}"
    return value


def release_order(release):
    return RELEASES.index(release) if release in RELEASES else len(RELEASES)


def version_order(text):
    """6.12 comes after 6.2."""
    parts = "".join(c if c.isdigit() else " " for c in text).split()
    return [int(each) for each in parts], text


def listed(names):
    """a, b and c"""
    names = list(names)
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + " and " + names[-1]


def counted(number, noun, many=None):
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
