# Completion of plantstore for bash. It needs no other package.
_plantstore() {
	local line current=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]:0:COMP_CWORD}")
	words[0]=${words[0]/#\~/$HOME}
	[[ $current == -* ]] && words+=("$current")
	COMPREPLY=()
	while IFS= read -r line; do
		line=${line%%:*} # without the usage
		[[ $line == "$current"* ]] && COMPREPLY+=("$line")
	done < <("${words[@]}" --generate-shell-completion 2>/dev/null)
}
complete -o bashdefault -o default -F _plantstore plantstore
