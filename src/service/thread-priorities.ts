/** Threads that work for later give way to the one that answers requests, and to those that write down what it answers for. */
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** As Node names those of the garbage collector and the compiler. The store's is none: what it is behind with is refused. */
const forLater = 'V8Worker';
/** A third of what a thread gets that does not give way, as long as both want the same processor. */
const less = 5;
/** Linux alone has a priority for each thread, and tells which there are. */
const tasks = '/proc/self/task';

/** Of the threads that there are now. Does nothing where the system knows no such thing, or does not let us. */
export function lowerThreadPriorities(): void {
  if (process.platform !== 'linux') return;
  try {
    const priority = Math.min(constants.priority.PRIORITY_LOW, getPriority() + less);
    for (const id of readdirSync(tasks))
      if (readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === forLater) setPriority(Number(id), priority);
  } catch {
    // Those that were not reached stay as they were, and work.
  }
}
