//! Which lane holds which element of a matrix, and in which register.
//!
//! For `mma` this is what the PTX ISA shows (§9.7.15.5). What it leaves open, for `wmma`, is the same made larger:
//! blocks of 8 rows, then blocks of columns; registers that are named beyond those needed hold the elements again.

use isa::op::matrix::{MatrixElement, MatrixRole, MatrixShape};

/// The row and column of an element: `part` counts the elements of a register from its lowest bits.
pub(super) fn place(
    shape: MatrixShape,
    role: MatrixRole,
    element: MatrixElement,
    register: usize,
    part: usize,
    lane: usize,
) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let parts = usize::from(element.per_register());
    let register = register % usize::from(shape.registers(role, element).max(1));
    let row_blocks = usize::from(shape.m) / 8;
    match role {
        MatrixRole::A => {
            let (block, k) = (register % row_blocks, register / row_blocks);
            (8 * block + group, 4 * parts * k + parts * thread + part)
        }
        MatrixRole::B => {
            let k_blocks = usize::from(shape.k) / (4 * parts);
            let (block, k) = (register / k_blocks, register % k_blocks);
            (4 * parts * k + parts * thread + part, 8 * block + group)
        }
        MatrixRole::C | MatrixRole::D => {
            // Neighbours in a row are in one register, or in two.
            let at = register * parts + part;
            let (pair, block) = (at % 2, at / 2);
            (8 * (block % row_blocks) + group, 8 * (block / row_blocks) + 2 * thread + pair)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_element_has_a_place_of_its_own() {
        use MatrixElement::{Bf16, F16, F32, F64, S8, S32, Tf32};
        let cases = [
            ((16, 8, 16), F16, F32),
            ((16, 8, 8), Bf16, F16),
            ((16, 8, 4), Tf32, F32),
            ((16, 8, 32), S8, S32),
            ((8, 8, 4), F64, F64),
            ((16, 16, 16), F16, F16),
            ((32, 8, 16), F16, F32),
            ((8, 32, 16), S8, S32),
            ((16, 16, 8), Tf32, F32),
        ];
        for ((m, n, k), of_a, of_c) in cases {
            let shape = MatrixShape { m, n, k };
            for (role, element) in [(MatrixRole::A, of_a), (MatrixRole::B, of_a), (MatrixRole::C, of_c)] {
                let (rows, columns) = shape.of(role);
                let mut seen = BTreeSet::new();
                for lane in 0..32 {
                    for register in 0..usize::from(shape.registers(role, element)) {
                        for part in 0..usize::from(element.per_register()) {
                            let (row, column) = place(shape, role, element, register, part, lane);
                            assert!(row < rows.into() && column < columns.into(), "{shape} {role} {element}");
                            assert!(seen.insert((row, column)), "{shape} {role} {element}");
                        }
                    }
                }
                assert_eq!(seen.len(), usize::from(rows) * usize::from(columns), "{shape} {role} {element}");
            }
        }
    }

    #[test]
    fn the_places_are_those_of_the_isa() {
        let shape = MatrixShape { m: 16, n: 8, k: 16 };
        // Lane 5 is thread 1 of group 1.
        assert_eq!(place(shape, MatrixRole::A, MatrixElement::F16, 3, 1, 5), (9, 11));
        assert_eq!(place(shape, MatrixRole::B, MatrixElement::F16, 1, 0, 5), (10, 1));
        assert_eq!(place(shape, MatrixRole::C, MatrixElement::F32, 2, 0, 5), (9, 2));
    }
}
