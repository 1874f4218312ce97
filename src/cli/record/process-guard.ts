/** Ends the processes that a command has started when the command itself is killed, because its handlers do not run then. */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

export interface ProcessGuard {
  /** `target`: the number of a process, or minus that of a process group. */
  add(target: number): void;
  remove(target: number): void;
  /** Ends the guard, and no other process. */
  stop(): void;
}

/** Reads until its input ends, which happens when the only process that holds the other end has ended for any reason. */
const script = `
trap '' HUP INT TERM
targets=
while read -r what target; do
  case $what in
    add) targets="$targets $target" ;;
    remove)
      kept=
      for one in $targets; do [ "$one" = "$target" ] || kept="$kept $one"; done
      targets=$kept ;;
  esac
done
for one in $targets; do kill -KILL "$one" 2>/dev/null; done
`;

/** Without a shell it guards nothing, as on Windows. */
export function processGuard(path: string | undefined): ProcessGuard {
  const shell = spawn('sh', ['-c', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: path === undefined ? {} : { PATH: path },
  });
  shell.on('error', () => undefined).unref();
  shell.stdin.on('error', () => undefined);
  // A pipe of a child is a socket, which would keep this process alive.
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  const tell = (what: 'add' | 'remove', target: number): void => void shell.stdin.write(`${what} ${target}\n`);
  return {
    add: (target) => tell('add', target),
    remove: (target) => tell('remove', target),
    stop: () => void shell.kill('SIGKILL'),
  };
}
