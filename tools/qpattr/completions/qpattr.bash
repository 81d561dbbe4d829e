# SPDX-License-Identifier: MIT
# bash completion for qpattr. Needs no bash-completion; with it, programs after -- are
# completed as they are by themselves.

# The names of lib/attr, from the program that is being completed.
_qpattr_names() {
	"${_qpattr_program:-qpattr}" complete "$1" 2>/dev/null
}

_qpattr_devices() {
	(cd /sys/class/infiniband 2>/dev/null && printf '%s\n' *) | grep -v '\*'
}

# _qpattr_reply CURRENT CANDIDATE...: those that go on from CURRENT. bash replaces only
# what is behind the last = or : of it, as COMP_WORDBREAKS says.
_qpattr_reply() {
	local current=$1 each cut=
	shift
	while [[ $current == *[=:]* ]]; do
		each=${current%%[=:]*}
		[[ $COMP_WORDBREAKS == *"${current:${#each}:1}"* ]] || break
		cut+=${current:0:${#each}+1}
		current=${current:${#each}+1}
	done
	for each; do
		[[ $each == "$cut$current"* ]] || continue
		each=${each#"$cut"}
		COMPREPLY+=("$each")
	done
	# After "timeout=" and "dst=" the value follows.
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace 2>/dev/null
}

# Files, also where the word has a = in it.
_qpattr_files() {
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	# shellcheck disable=SC2207 # a name a line
	COMPREPLY+=($(compgen -f -- "$1"))
}

# A list by commas: what is before the last one stays.
_qpattr_settings() {
	local done='' last=$1 each
	[[ $last != *,* ]] || { done=${last%,*},; last=${last##*,}; }
	local all=()
	case $last in
	path_mtu=*) for each in 256 512 1024 2048 4096; do all+=("${done}path_mtu=${each}B"); done ;;
	traffic_class=*) all=("${done}traffic_class=dscp:") ;;
	timeout=* | min_rnr_timer=*) return ;;
	*) while read -r each; do all+=("$done$each="); done < <(_qpattr_names settings) ;;
	esac
	_qpattr_reply "$1" "${all[@]}"
}

_qpattr_conditions() {
	local done='' last=$1 each
	[[ $last != *,* ]] || { done=${last%,*},; last=${last##*,}; }
	local all=()
	case $last in
	ps=*) all=(ps={tcp,udp,ib,ipoib}) ;;
	qp_type=*) all=(qp_type={rc,uc,ud,xrc_ini,xrc_tgt}) ;;
	dev=*) while read -r each; do all+=("dev=$each"); done < <(_qpattr_devices) ;;
	*) all=({dst,src,port,ps,dev,qp_type}'=') ;;
	esac
	_qpattr_reply "$1" "${all[@]/#/$done}"
}

# The program to start and its own arguments, which begin at this word of COMP_WORDS.
_qpattr_program_at() {
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)); then
		# shellcheck disable=SC2207
		COMPREPLY+=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
	else
		_qpattr_files "${COMP_WORDS[COMP_CWORD]}"
	fi
}

_qpattr() {
	local line=${COMP_LINE:0:COMP_POINT} words=() current='' previous='' command i
	local _qpattr_program=$1
	COMPREPLY=()
	# By spaces: in COMP_WORDS = and : are words of their own.
	read -ra words <<<"$line"
	if [[ $line == *[[:space:]] ]]; then
		words+=('')
	fi
	current=${words[-1]}
	((${#words[@]} < 2)) || previous=${words[-2]}
	command=${words[1]:-}
	if ((${#words[@]} <= 2)); then
		_qpattr_reply "$current" trace run explain compare probe doctor --help --version
		return
	fi
	case $command in
	trace | run)
		# The program begins behind --, or at the first word that is no option and
		# no option's value.
		local at=-1
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) at=$((i + 1)) && break ;;
			-o | --output | --format | -p | --pid | --set | --match | --config | --trace)
				# Its value, which = and : may have parted.
				((i++))
				while [[ ${COMP_WORDS[i + 1]:-} == [=:]* || ${COMP_WORDS[i]:-} == [=:]* ]]; do
					((i++))
				done
				;;
			-*) ;;
			*) at=$i && break ;;
			esac
		done
		if ((at > 0 && at <= COMP_CWORD)); then
			_qpattr_program_at "$at"
			return
		fi
		;;
	esac
	local value=1
	case $previous in
	--set) _qpattr_settings "$current" ;;
	--match) _qpattr_conditions "$current" ;;
	--format) _qpattr_reply "$current" text json perfetto ;;
	-o | --output | --config | --trace) _qpattr_files "$current" ;;
	-p | --pid | --count | --timeout) ;; # nothing to offer
	*) value= ;;
	esac
	[[ -z $value ]] || return
	if [[ $current == -* ]]; then
		local options=(--help)
		case $command in
		trace) options+=(--output --format --summary --pid --) ;;
		run) options+=(--set --match --config --trace --format --) ;;
		explain | compare | doctor) options+=(--json) ;;
		probe) options+=(--listen --loopback --udp --count --timeout --json) ;;
		esac
		_qpattr_reply "$current" "${options[@]}"
		return
	fi
	case $command in
	explain)
		local names=()
		while read -r i; do names+=("$i"); done < <(_qpattr_names attributes)
		_qpattr_reply "$current" "${names[@]}" INIT RTR RTS \
			EINVAL EACCES ENOENT ENXIO ENODATA ENOSYS EBADF
		_qpattr_files "$current"
		;;
	compare) _qpattr_files "$current" ;;
	trace | run) _qpattr_program_at "$COMP_CWORD" ;;
	esac
}
complete -F _qpattr qpattr
