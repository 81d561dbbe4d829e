# SPDX-License-Identifier: MIT
"""The part of JSON Schema, draft 2020-12, that docs/trace-schema.json is written in. A
keyword that is not known here is an error, so that no part of the schema goes unchecked."""
import re

COMMENTS = {'$schema', 'title', 'description', '$defs'}
TYPES = {
    'object': lambda v: isinstance(v, dict),
    'array': lambda v: isinstance(v, list),
    'string': lambda v: isinstance(v, str),
    'null': lambda v: v is None,
    'integer': lambda v: isinstance(v, int) and not isinstance(v, bool),
}


def problems(value, schema, root, path=''):
    """What is wrong with a value, as lines; none if it is valid."""
    found = []

    def wrong(text):
        found.append(f'{path or "the record"}: {text}')

    def inner(other, what=value, at=path):
        return problems(what, other, root, at)

    for key, want in schema.items():
        if key in COMMENTS or key in ('then', 'else'):
            continue
        if key == '$ref':
            target = root
            for part in want.removeprefix('#/').split('/'):
                target = target[part]
            found += inner(target)
        elif key == 'type':
            if not any(TYPES[each](value) for each in ([want] if isinstance(want, str) else want)):
                wrong(f'{value!r} is not {want}')
        elif key == 'const':
            if value != want or isinstance(value, bool):
                wrong(f'{value!r} is not {want!r}')
        elif key == 'enum':
            if value not in want:
                wrong(f'{value!r} is none of {want}')
        elif key in ('minimum', 'maximum'):
            if TYPES['integer'](value) and (value < want if key == 'minimum' else value > want):
                wrong(f'{value} is beyond the {key}, {want}')
        elif key == 'pattern':
            if isinstance(value, str) and not re.search(want, value):
                wrong(f'{value!r} does not match {want}')
        elif key == 'required':
            found += [f'{path or "the record"}: no {each}' for each in want
                      if isinstance(value, dict) and each not in value]
        elif key == 'properties':
            for name, each in want.items():
                if isinstance(value, dict) and name in value:
                    found += inner(each, value[name], f'{path}.{name}')
        elif key == 'additionalProperties':
            for name in value if isinstance(value, dict) else ():
                if name not in schema.get('properties', {}):
                    found += inner(want, value[name], f'{path}.{name}')
        elif key == 'propertyNames':
            for name in value if isinstance(value, dict) else ():
                found += inner(want, name, f'{path}: the name {name}')
        elif key == 'items':
            for i, each in enumerate(value if isinstance(value, list) else ()):
                found += inner(want, each, f'{path}[{i}]')
        elif key in ('maxItems', 'maxProperties'):
            if isinstance(value, (list, dict)) and len(value) > want:
                wrong(f'{len(value)} entries, not {want}')
        elif key == 'oneOf':
            each = [inner(one) for one in want]
            if sum(not one for one in each) != 1:
                wrong('it is not one of the kinds: ' + min(each, key=len)[0] if all(each) else 'several kinds fit')
        elif key == 'if':
            branch = schema.get('else' if inner(want) else 'then')
            found += inner(branch) if branch else []
        else:
            raise ValueError(f'keyword {key} of the schema is not known')
    return found
