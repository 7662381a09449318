// inlined.rs - allocations in Rust functions that the compiler inlines; SITE and CALL as in inlined.cc.
use std::collections::BTreeMap;
use std::hint::black_box;

mod shapes {
    pub struct Holder<T> {
        pub items: Vec<T>,
    }

    impl<T: Clone + Default> Holder<T> {
        #[inline(always)]
        pub fn with(n: usize) -> Self {
            let items = vec![T::default(); n]; // SITE with
            Holder { items }
        }
    }

    #[inline(always)]
    pub fn boxed(n: u64) -> Box<[u64; 64]> {
        std::hint::black_box(Box::new([n; 64])) // SITE boxed
    }
}

trait Shape {
    fn area(&self) -> u64;
}

impl Shape for shapes::Holder<u64> {
    fn area(&self) -> u64 {
        self.items.iter().sum()
    }
}

#[inline(never)]
fn plain(n: u64) -> u64 {
    let make = |m: u64| shapes::boxed(m + n); // CALL boxed
    let holder = shapes::Holder::<u64>::with(black_box(n as usize)); // CALL with
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    for i in 0..n {
        names.insert(i % 7, format!("{i} {}", make(i)[3]));
    }
    black_box(&holder).area() + names.len() as u64
}

fn main() {
    println!("{}", plain(black_box(1000)));
}
