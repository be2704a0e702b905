import { Argument, Command, type Option } from 'commander';
import type { CommandContext } from '../command';
import { printResult } from '../terminal';

const NAME = 'deposit-gateway';

/** A command with its way from the root, such as `provision create`. */
interface Node {
  readonly path: readonly string[];
  readonly command: Command;
}

const nodesOf = (command: Command, path: readonly string[] = []): Node[] => [
  { path, command },
  ...subcommandsOf(command).flatMap((below) => nodesOf(below, [...path, below.name()])),
];

const subcommandsOf = ({ commands }: Command): readonly Command[] => commands.filter((below) => below.name() !== 'help');
const optionsOf = ({ command }: Node): readonly Option[] => command.options.filter(({ long }) => long);
const takesValue = ({ required, optional }: Option): boolean => required || optional;
const argumentValuesOf = ({ registeredArguments }: Command): string[] => registeredArguments.flatMap(({ argChoices = [] }) => argChoices);

/** A word in single quotes of a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
/** A word in single quotes of fish, which knows the backslash there. */
const quoteFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

/** The words of each command, the values of its options, and file names where neither is known. */
function writeBash(nodes: readonly Node[]): string {
  const pathOf = ({ path }: Node): string => path.map((name) => `/${name}`).join('');
  const paths = nodes.map(pathOf).filter((path) => path !== '');
  const values = nodes.flatMap((node) =>
    optionsOf(node).flatMap(({ long, argChoices = [] }) =>
      argChoices.length > 0 ? `    ${quote(`${pathOf(node)} ${long!}`)}) words=${quote(argChoices.join(' '))} ;;` : [],
    ),
  );
  const free = new Set(nodes.flatMap((node) => optionsOf(node).flatMap((option) => (takesValue(option) ? `*' ${option.long!}'` : []))));
  const words = nodes.map((node) => {
    const below = subcommandsOf(node.command).map((command) => command.name());
    const options = optionsOf(node).map(({ long }) => long!);
    return `      ${quote(pathOf(node))}) words=${quote([...below, ...argumentValuesOf(node.command), ...options, '--help'].join(' '))} ;;`;
  });
  return `_deposit_gateway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path/\${COMP_WORDS[i]}" in
      ${paths.join('|')}) path="$path/\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $before" in
${values.join('\n')}
    ${[...free].join('|')}) words='' ;;
    *) case "$path" in
${words.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _deposit_gateway ${NAME}`;
}

/** zsh runs completions that were written for bash. */
const writeZsh = (nodes: readonly Node[]): string => `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${writeBash(nodes)}`;

function writeFish(nodes: readonly Node[]): string {
  const at = ({ path, command }: Node): string => {
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
    const below = subcommandsOf(command).map((each) => each.name());
    const conditions = [...seen, ...(below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(' ')}`] : [])];
    return `-n ${quoteFish(path.length === 0 ? '__fish_use_subcommand' : conditions.join('; and '))}`;
  };
  const lines = nodes.flatMap((node) => [
    ...subcommandsOf(node.command).map((below) => `${at(node)} -f -a ${below.name()} -d ${quoteFish(below.description())}`),
    ...argumentValuesOf(node.command).map((value) => `${at(node)} -f -a ${quoteFish(value)}`),
    ...optionsOf(node).map(({ long, description, argChoices, ...option }) => {
      const values = argChoices ? ` -x -a ${quoteFish(argChoices.join(' '))}` : option.required ? ' -r' : '';
      return `${at(node)} -l ${long!.slice(2)}${values} -d ${quoteFish(description)}`;
    }),
  ]);
  return lines.map((line) => `complete -c ${NAME} ${line}`).join('\n');
}

const writers = { bash: writeBash, zsh: writeZsh, fish: writeFish } as const;
type Shell = keyof typeof writers;

/**
 * `completions bash | zsh | fish`: prints a script that completes commands, options and their values. The program must have all commands.
 */
export function completionsCommand(context: () => CommandContext): Command {
  return new Command('completions')
    .addArgument(new Argument('<shell>', 'the shell that reads the script').choices(Object.keys(writers)))
    .action((shell: Shell, _options: object, self: Command) => {
      const { terminal, json } = context();
      const script = writers[shell](nodesOf(self.parent!));
      printResult(terminal, json, { shell, script }, script);
    });
}
