/** A span, a record or an event with some members replaced. Where attributes are, their places in a body are gone. */
export function replaced<Item extends object>(item: Item, members: Partial<Item>): Item {
  const own: Partial<Item> = { ...('attribute' in members ? { written: undefined, asWritten: undefined } : {}), ...members };
  return new Proxy(item, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key) as unknown;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
