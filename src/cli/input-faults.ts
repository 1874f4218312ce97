/** All faults of an input file at their places, in the form of configuration faults. */
import type { ConfigFault } from '../config/diagnostic.ts';
import { JuryError } from '../model/errors.ts';

/** INPUT_UNREADABLE with every fault. */
export class InputFaults extends JuryError {
  readonly faults: readonly ConfigFault[];

  constructor(file: string, faults: readonly ConfigFault[], texts: readonly string[]) {
    const more = texts.length - faultsNamed;
    super('INPUT_UNREADABLE', `${file}: ${texts.slice(0, faultsNamed).join('; ')}${more > 0 ? `; and ${more} more` : ''}.`);
    this.name = 'InputFaults';
    this.faults = faults;
  }
}

/** In the message of the error; the list has all. */
const faultsNamed = 20;
