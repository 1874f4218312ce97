/** Opens a store of either engine for a copy. */
import { JuryError } from '../../model/errors.ts';
import type { StoreAddress } from '../index.ts';
import { postgresSide } from '../postgres/copy-side.ts';
import { faultText } from '../sql/answers.ts';
import { sqliteSide } from '../sqlite/copy-side.ts';
import type { CopySide } from './side.ts';

/** Rejects with a JuryError. */
export async function openCopySide({ scheme, rest }: StoreAddress): Promise<CopySide> {
  return named(await (scheme === 'postgres' ? postgresSide(`postgres:${rest}`) : sqliteSide(rest)));
}

/** Says of each fault which store it is about. */
function named(side: CopySide): CopySide {
  const { all, first, run } = side.statements;
  const told = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw error instanceof JuryError ? error : new JuryError('COPY_STOPPED', `${side.name}: ${faultText(error)}.`, error);
    }
  };
  return {
    ...side,
    statements: {
      all: (text, values) => told(all(text, values)),
      first: (text, values) => told(first(text, values)),
      run: (text, values) => told(run(text, values)),
    },
    transaction: (work) => told(side.transaction(work)),
    insert: (table, rows) => told(side.insert(table, rows)),
  };
}
