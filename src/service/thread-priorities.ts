/** Lowers the priority of V8's threads below the main thread and the threads that write to disk. */
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** Node's name for the threads of the garbage collector and the compiler. The store's thread keeps its priority: when it is late, the service refuses requests. */
const workerName = 'V8Worker';
/** Steps of niceness: the thread gets a third of the time of a thread without them, while both want the same processor. */
const steps = 5;
/** Only Linux has a priority for each thread, and lists the threads here. */
const tasks = '/proc/self/task';

/** For the threads that exist now. Does nothing where the system has no such priorities, or forbids the change. */
export function lowerThreadPriorities(): void {
  if (process.platform !== 'linux') return;
  try {
    const priority = Math.min(constants.priority.PRIORITY_LOW, getPriority() + steps);
    for (const id of readdirSync(tasks))
      if (readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === workerName) setPriority(Number(id), priority);
  } catch {
    // The remaining threads keep their priority and work on.
  }
}
