/** The name of an entry of `export`. */
import { member, type JsonObject } from '../../model/json.ts';

/** That of its kind when it has none of its own. */
export function exporterName(entry: JsonObject): string {
  const [name, to] = [member(entry, 'name'), member(entry, 'to')];
  return typeof name === 'string' ? name : typeof to === 'string' ? to : '';
}
