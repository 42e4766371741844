import { signal, useSignal } from "@preact/signals";
import type { ProductView } from "../view.ts";
import { act } from "./actions.ts";
import { Button, Card, Empty, More, NotHere, Reference, Thumbnail } from "./parts.tsx";
import { controls, state } from "./store.ts";

interface ProductSchema {
  readonly properties?: { readonly status?: { readonly enum?: readonly string[] } };
}

/** The stages of a product, from the schema of the control that changes them. */
function stages(): readonly string[] {
  const schema = controls.value.find(({ name }) => name === "updateProduct")?.input as ProductSchema | undefined;
  return schema?.properties?.status?.enum ?? [];
}

/** One product: its picture, its stage and its stock, which can be changed. */
function ProductCard({ product }: { readonly product: ProductView }) {
  const { reference, name, status, available, legacySku, picture } = product;
  const edited = useSignal<string>();
  const stock = edited.value ?? (available === null ? "" : String(available));
  const setStock = async () => {
    const availableQuantity = stock === "" ? null : Number(stock);
    const done = `${name}: ${availableQuantity ?? "an unknown number"} available`;
    if (await act("updateProduct", { product: reference, availableQuantity }, done)) edited.value = undefined;
  };
  return (
    <Card reference={reference} label={`Product ${name}`} kind="product">
      <Thumbnail small={picture} alt={`The example picture of ${name}`} />
      <div class="product-facts">
        <h3>{name}</h3>
        <p class="card-facts">
          <Reference value={reference} />
          <code>{legacySku}</code>
        </p>
        <div class="row-form">
          <select
            aria-label={`Status of ${name}`}
            value={status}
            onChange={({ currentTarget }) =>
              act(
                "updateProduct",
                { product: reference, status: currentTarget.value },
                `${name} is ${currentTarget.value}`,
              )
            }
          >
            {[...new Set([status, ...stages()])].map((stage) => (
              <option key={stage} value={stage}>
                {stage}
              </option>
            ))}
          </select>
          <label class="field inline">
            <span>Stock</span>
            <input
              type="number"
              min={0}
              aria-label={`Stock of ${name}`}
              value={stock}
              onInput={({ currentTarget }) => {
                edited.value = currentTarget.value;
              }}
            />
          </label>
          <Button label={`Set the stock of ${name}`} disabled={edited.value === undefined} onPress={setStock}>
            Set
          </Button>
        </div>
      </div>
    </Card>
  );
}

const text = signal("");

/** The products with stock, status and pictures. */
export function CataloguePane() {
  const products = state.value?.products;
  if (products === undefined) return null;
  const word = text.value.toLowerCase();
  const found = products.items.filter(({ name, reference, legacySku, status }) =>
    [name, reference, legacySku, status].join(" ").toLowerCase().includes(word),
  );
  return (
    <>
      <input
        type="search"
        class="filter"
        placeholder="Find by name, reference, SKU or status"
        aria-label="Find a product"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <NotHere known={products.items.map(({ reference }) => reference)} noun="products" />
      <ul class="cards tight">
        {found.map((product) => (
          <li key={product.reference}>
            <ProductCard product={product} />
          </li>
        ))}
      </ul>
      {found.length === 0 ? <Empty title="No product matches" hint="Only the newest products are searched." /> : null}
      <More list={products} noun="products" />
    </>
  );
}
