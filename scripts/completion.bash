# completion.bash - completes `mprof` in bash: verbs, options and arguments as mprof's own help has them at the time.

# The functions below share these variables of _mprof: `current`, the word to complete; `help`, what `mprof help VERB` says.

_mprof_call()
{
	"${COMP_WORDS[0]/#\~/$HOME}" "$@" 2>/dev/null </dev/null
}

# Set COMPREPLY to those of the words that begin like the current one.
_mprof_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# The same for directories, and files that match the regular expression. Bash itself adds slashes and quotes.
_mprof_files()
{
	local path

	compopt -o filenames 2>/dev/null
	while IFS= read -r path; do
		[[ -d $path || $path =~ $1 ]] && COMPREPLY+=("$path")
	done < <(compgen -f -- "$current")
}

_mprof_verbs()
{
	_mprof_call --help | sed -n -e '1,/^usage:/d' -e '/^[^ ]/q' -e 's/^  \([a-z-]*\) .*/\1/p'
}

# One option a line, and after it what stands for its value, if it takes one as the next word.
_mprof_options()
{
	sed -n 's/^  *\(-.*\)/\1/p' <<<"$help" | sed -e 's/  .*//' -e 's/\[.*//' -e 's/,/ /g' |
		awk '{ for (i = 1; i <= NF && $i ~ /^-/; i++) print $i, $NF ~ /^[A-Z]/ ? $NF : "" }'
	echo --help
}

# What stands for the arguments of the verb, in their order.
_mprof_arguments()
{
	sed -n -e '1s/usage: mprof [a-z]*//' -e '1s/\[-[^]]*\]//g' -e '1s/\[OPTIONS\]//' -e '1s/[].[]//g' -e 1p <<<"$help"
}

# The sample types that the help names.
_mprof_types()
{
	tr -c 'a-z_' '\n' <<<"$help" | grep -xE '[a-z]+_(objects|space)' | sort -u
}

# The command of `mprof run`, which begins with the word $1.
_mprof_command()
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
		return
	fi
	_mprof_files ''
	if [ "$COMP_CWORD" = "$1" ]; then
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$current")
	fi
}

# What the option $1 takes.
_mprof_value()
{
	case $(_mprof_options | awk -v option="$1" '$1 == option { print $2 }') in
	TYPE) _mprof_words "$(_mprof_types)" ;;
	PID) _mprof_argument PID ;;
	*FILE* | *DIR* | OUT | PATTERN | OLD | NEW | BASE) _mprof_files '' ;;
	"") return 1 ;;
	esac
}

# An argument of a verb, by what stands for it.
_mprof_argument()
{
	case $1 in
	PID) _mprof_words "$(_mprof_call ps --timeout 1 | awk '$1 ~ /^[0-9]+$/ { print $1 }')" ;;
	N | "") ;;
	*) _mprof_files '\.(pb|txt|heap)(\.gz)?$' ;;
	esac
}

_mprof()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} help arguments word options=1 count=0 i

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		_mprof_words "$(_mprof_verbs) --help"
		return
	elif [ "${COMP_WORDS[1]}" = help ]; then
		_mprof_words "$(_mprof_verbs)"
		return
	fi
	help=$(_mprof_call help "${COMP_WORDS[1]}")
	[ -n "$help" ] || return
	read -ra arguments <<<"$(_mprof_arguments)"
	# Which argument is it? Bash takes --option=value for three words.
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $options && $word == -- ]]; then
			options=
		elif [[ $options && $word == -?* ]]; then
			if [[ ${COMP_WORDS[i + 1]} == = || $'\n'$(_mprof_options) == *$'\n'"$word "[A-Z]* ]]; then
				i=$((i + 1))
				[ "${COMP_WORDS[i]}" = = ] && i=$((i + 1))
			fi
		elif [ "${arguments[0]}" = CMD ]; then
			_mprof_command "$i"
			return
		else
			count=$((count + 1))
		fi
	done
	if [ "$current" = = ]; then
		current=
		_mprof_value "$previous"
	elif [ "$previous" = = ]; then
		_mprof_value "${COMP_WORDS[COMP_CWORD - 2]}"
	elif [[ $options && $previous == -* ]] && _mprof_value "$previous"; then
		return
	elif [[ $options && $current == -* ]]; then
		_mprof_words "$(_mprof_options | cut -d ' ' -f 1)"
	elif [ "${arguments[0]}" = CMD ]; then
		_mprof_command "$COMP_CWORD"
	else
		[[ ${help%%$'\n'*} == *...* && $count -ge ${#arguments[@]} ]] && count=$((${#arguments[@]} - 1))
		_mprof_argument "${arguments[count]}"
	fi
}

complete -F _mprof mprof
