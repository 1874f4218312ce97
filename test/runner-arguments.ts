/** The command line of the scripts under `test/`: `--help` shows the comment at the top of the script, and a mistyped option is answered in a sentence. */
import { readFileSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Ends the process with 0 after the help, and with 2 after an option that is unknown. */
export function runnerArguments<const Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${headComment(readFileSync(process.argv[1] ?? '', 'utf8'))}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    const [message] = (error instanceof Error ? error.message : String(error)).split(/\.(?:\s|$)/, 1);
    process.stderr.write(`${message}. --help shows the options.\n`);
    process.exit(2);
  }
}

/** The text of the first comment, without its stars. */
function headComment(source: string): string {
  const text = /\/\*\*(.*?)\*\//s.exec(source)?.[1] ?? '';
  return text.replaceAll(/^ *\* ?/gm, '').trim();
}
