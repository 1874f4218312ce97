/** Faults of an input file, in the form of configuration faults, and their text. */
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

/** In the message of the error; `faults` has all. */
const faultsNamed = 20;

/** Writes for each fault its place, its line, the problem and the remedy. */
export function faultsText(faults: readonly ConfigFault[]): string {
  return [...faultBlocks(faults), faults.length === 1 ? '1 fault' : `${faults.length} faults`].join('\n\n');
}

export function warningsText(warnings: readonly ConfigFault[]): string {
  return faultBlocks(warnings)
    .map((block) => `warning: ${block}`)
    .join('\n');
}

export function faultBlocks(faults: readonly ConfigFault[]): readonly string[] {
  return faults.map((fault) => {
    const number = String(fault.line);
    const source = fault.source === '' ? [] : [`  ${number} | ${fault.source}`];
    const place = fault.line === 0 ? fault.file : `${fault.file}:${number}:${fault.column}`;
    return [
      `${place} ${fault.key === '' ? '' : `${fault.key}: `}${fault.problem}`,
      ...source,
      `  ${' '.repeat(number.length)} = ${fault.todo}`,
    ].join('\n');
  });
}
