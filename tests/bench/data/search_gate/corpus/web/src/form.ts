export function validatePostcode(code: string): boolean {
  return /^[0-9]{5}$/.test(code);
}

export function formatCents(cents: number): string {
  return (cents / 100).toFixed(2) + " EUR";
}

export function debounce(run: () => void, delay: number): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, delay) as unknown as number;
  };
}
