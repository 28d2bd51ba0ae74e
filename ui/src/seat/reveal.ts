/** Brings a seat into sight along its row, and moves nothing up or down. */
export function reveal(seat: HTMLElement): void {
  for (let row = seat.parentElement; row; row = row.parentElement) {
    if (row.scrollWidth <= row.clientWidth || getComputedStyle(row).overflowX === 'visible') continue;
    const [at, place] = [seat.getBoundingClientRect(), row.getBoundingClientRect()];
    if (at.left < place.left) row.scrollLeft += at.left - place.left;
    else if (at.right > place.right) row.scrollLeft += Math.min(at.right - place.right, at.left - place.left);
    return;
  }
}
