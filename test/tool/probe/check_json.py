#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_json.py FILE client|server|udp: what `qpattr probe --json` wrote is a trace of
both ends, whole and by the schema."""
import json
import os
import sys

path, kind = sys.argv[1:]
records = [json.loads(line) for line in open(path)]
schema_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../docs/trace-schema.json')
try:
    import jsonschema
except ImportError:
    jsonschema = None
if jsonschema:
    schema = json.load(open(schema_path))
    for each in records:
        jsonschema.validate(each, schema)
else:
    print('# no jsonschema here: only the keys are looked at')
for each in records:
    assert list(each)[0] == 'qpattr' and each['qpattr'] == 1, each
    assert each['type'] in ('process', 'call', 'notice'), each
wanted = {'client': ['INIT', 'INIT', 'RTR', 'RTS'], 'server': ['INIT', 'RTR', 'RTS']}
if kind == 'udp':
    wanted['client'] = wanted['server']
for end, states in wanted.items():
    calls = [each for each in records if each['type'] == 'call' and each['end'] == end]
    assert [each['asked'] for each in calls] == states, (end, calls)
    assert [each['seq'] for each in calls] == list(range(1, len(calls) + 1)), calls
    for each in calls:
        assert each['result'] == 0 and each['errno'] is None and each['served_by'] == 'qpattr', each
        assert each['device'] == 'rxe0' and each['port'] == 1 and each['qp_num'] > 1, each
        assert each['duration_ns'] > 0 and each['time_ns'] > 10**18, each
        assert each['attributes']['qp_state']['value'] == each['asked'], each
        assert len(each['mask_names']) == bin(each['mask']).count('1'), each
one, other = ([each for each in records if each['type'] == 'call' and each['end'] == end][-1]
              for end in ('client', 'server'))
assert (one['src'], one['dst']) == (other['dst'], other['src']), (one, other)
if kind != 'udp':
    assert one['attributes']['sq_psn']['number'] == \
        [each for each in records if each['type'] == 'call' and each['end'] == 'server' and each['asked'] == 'RTR'][0][
            'attributes']['rq_psn']['number']
last = records[-1]
assert last['type'] == 'notice' and last['probe']['client_bytes'] > 500 and last['probe']['server_bytes'] > 500, last
if kind != 'server':
    times = last['probe']['round_trip_ns']
    assert times['count'] == 32 and 0 < times['least'] <= times['median'] <= times['most'], times
