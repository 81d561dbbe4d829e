# SPDX-License-Identifier: MIT
#
# Reads apt sources in both formats, prints 'URI|KEYRING' of the first entry
# that has 'main' of the release OWN, or else (a machine may follow 'stable') of
# the first that has 'main' of any release. The keyring is empty if none is
# named.

function found(uri, key, suite) {
    if (key !~ /^\//) key = ""
    if (suite == own && best == "") best = uri "|" key
    # 'bookworm-updates' and the like hold a part only, 'x/' has no components.
    if (suite !~ /[-\/]/ && second == "") second = uri "|" key
}

# The end of a deb822 paragraph.
function flush_paragraph(    n, i, uri, suite) {
    if (has(types, "deb") && has(components, "main") && tolower(enabled) != "no") {
        split(trim(uris), uri, /[ \t]+/)
        n = split(trim(suites), suite, /[ \t]+/)
        for (i = 1; i <= n; i++) found(uri[1], key, suite[i])
    }
    types = suites = components = uris = key = enabled = field = ""
}

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
function has(list, word) { return index(" " trim(list) " ", " " word " ") > 0 }

FNR == 1 { flush_paragraph(); deb822 = (FILENAME ~ /\.sources$/) }
/^[ \t]*#/ { next }

deb822 && /^[ \t]*$/ { flush_paragraph(); next }
deb822 {
    value = $0
    if ($0 ~ /^[^ \t:]+:/) {
        field = tolower($0); sub(/:.*/, "", field)
        sub(/^[^:]+:/, "", value)
    }
    value = trim(value)
    if (field == "types") types = types " " value
    else if (field == "uris") uris = uris " " value
    else if (field == "suites") suites = suites " " value
    else if (field == "components") components = components " " value
    else if (field == "enabled") enabled = value
    # A key may stand in the file itself: its lines are no path.
    else if (field == "signed-by" && key == "") { key = value; sub(/[ \t,].*/, "", key) }
    next
}

# deb [option=value ...] URI SUITE COMPONENT...
$1 == "deb" {
    options = ""
    line = trim(substr($0, index($0, "deb") + 3))
    if (line ~ /^\[/) {
        options = line; sub(/\].*/, "", options)
        sub(/^\[[^]]*\]/, "", line)
    }
    n = split(trim(line), word, /[ \t]+/)
    for (i = 3; i <= n; i++) if (word[i] == "main") {
        signed_by = ""
        if (match(options, /signed-by=[^ \t,]+/)) signed_by = substr(options, RSTART + 10, RLENGTH - 10)
        found(word[1], signed_by, word[2])
    }
}

END { flush_paragraph(); if (best == "") best = second; if (best != "") print best }
