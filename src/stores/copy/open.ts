/** Opens a store for a copy, whichever engine it has. */
import type { StoreAddress } from '../index.ts';
import { postgresSide } from '../postgres/copy-side.ts';
import { sqliteSide } from '../sqlite/copy-side.ts';
import { named } from './copy.ts';
import type { CopySide } from './side.ts';

/** Rejects with a JuryError. */
export async function openCopySide({ scheme, rest }: StoreAddress): Promise<CopySide> {
  return named(await (scheme === 'postgres' ? postgresSide(`postgres:${rest}`) : sqliteSide(rest)));
}
