/** First in, first out, with removal from anywhere in constant time: `shift` skips an item that has left. */
export class Fifo<Item extends { left: boolean }> {
  #items: Item[] = [];
  #head = 0;
  #live = 0;

  get size(): number {
    return this.#live;
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#live += 1;
  }

  /** Inserts an item before the first one that is not `ahead` of it. Few are ahead. */
  insert(item: Item, ahead: (other: Item) => boolean): void {
    let place = this.#head;
    for (let other = this.#items[place]; other !== undefined && ahead(other); other = this.#items[place]) place += 1;
    if (place === this.#head && place > 0) {
      this.#head -= 1;
      this.#items[this.#head] = item;
    } else this.#items.splice(place, 0, item);
    this.#live += 1;
  }

  /** The first item. */
  peek(): Item | undefined {
    while (this.#head < this.#items.length && this.#items[this.#head]?.left) this.#head += 1;
    if (this.#head === this.#items.length) this.#compact();
    return this.#items[this.#head];
  }

  shift(): Item | undefined {
    const item = this.peek();
    if (item === undefined) return undefined;
    this.#head += 1;
    this.#live -= 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) this.#compact();
    return item;
  }

  leave(item: Item): void {
    if (item.left) return;
    item.left = true;
    this.#live -= 1;
    if (this.#live * 2 < this.#items.length - this.#head - 1024) this.#compact();
  }

  /** Removes all items that match, in their order, without those that have left. */
  takeOut(matches: (item: Item) => boolean): readonly Item[] {
    this.#compact();
    const out = this.#items.filter(matches);
    this.#items = this.#items.filter((item) => !matches(item));
    this.#live = this.#items.length;
    return out;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head).filter((item) => !item.left);
    this.#head = 0;
  }
}
