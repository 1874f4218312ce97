/** Words that make the runs of one scenario different from each other. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Random } from './random.ts';

export interface Words {
  readonly [name: string]: string | number;
}

const cities = [
  ['CDG', 'Paris'],
  ['FCO', 'Rome'],
  ['WAW', 'Warszawa'],
  ['NRT', 'Tōkyō'],
  ['GRU', 'São Paulo'],
] as const;
const origins = ['JFK', 'LHR', 'FRA', 'SFO'] as const;
const topics = ['heat pumps', 'tidal power', 'sourdough', 'grid storage', 'bee colonies'] as const;
const files = ['src/cart.ts', 'src/auth/session.ts', 'lib/parser.py', 'pkg/queue/queue.go'] as const;

export function wordsOf(random: Random): Words {
  const [to, city] = random.pick(cities);
  return {
    from: random.pick(origins),
    to,
    city,
    date: `2027-0${random.between(1, 9)}-${random.between(10, 28)}`,
    nights: random.between(2, 9),
    number: String(random.between(100_000, 999_999)),
    amount: random.between(500, 9_900) / 100,
    topic: random.pick(topics),
    file: random.pick(files),
  };
}

const PLACE = /\{(\w+)\}/g;
const WHOLE_PLACE = /^\{(\w+)\}$/;

export function filledText(text: string, words: Words): string {
  return text.replaceAll(PLACE, (place, name: string) => String(words[name] ?? place));
}

export function filledObject(object: JsonObject, words: Words): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, filled(value, words)]));
}

export function filled(value: JsonValue, words: Words): JsonValue {
  if (isJsonArray(value)) return value.map((item) => filled(item, words));
  if (isJsonObject(value)) return filledObject(value, words);
  if (typeof value !== 'string') return value;
  const whole = WHOLE_PLACE.exec(value)?.[1];
  return whole === undefined ? filledText(value, words) : (words[whole] ?? value);
}
