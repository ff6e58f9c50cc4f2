//! Published flow sizes: bytes, and the share of the flows up to them in parts per billion. The points
//! are those of the HKUST traffic generator's configurations
//! (<https://github.com/HKUST-SING/TrafficGenerator>, `conf`); papers differ in them.

/// After Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010.
pub(super) const WEB_SEARCH: &[(u64, u64)] = &[
    (0, 0),
    (10_000, 150_000_000),
    (20_000, 200_000_000),
    (30_000, 300_000_000),
    (50_000, 400_000_000),
    (80_000, 530_000_000),
    (200_000, 600_000_000),
    (1_000_000, 700_000_000),
    (2_000_000, 800_000_000),
    (5_000_000, 900_000_000),
    (10_000_000, 970_000_000),
    (30_000_000, 1_000_000_000),
];

/// After Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009.
pub(super) const DATA_MINING: &[(u64, u64)] = &[
    (0, 0),
    (180, 100_000_000),
    (216, 200_000_000),
    (560, 300_000_000),
    (900, 400_000_000),
    (1_100, 500_000_000),
    (1_870, 600_000_000),
    (3_160, 700_000_000),
    (10_000, 800_000_000),
    (400_000, 900_000_000),
    (3_160_000, 950_000_000),
    (100_000_000, 980_000_000),
    (1_000_000_000, 1_000_000_000),
];

/// Of a cache of Facebook.
pub(super) const CACHE: &[(u64, u64)] = &[
    (0, 0),
    (3, 280_000_000),
    (10, 320_000_000),
    (12, 440_000_000),
    (75, 500_000_000),
    (250, 750_000_000),
    (350, 900_000_000),
    (1_000, 965_000_000),
    (2_515, 980_000_000),
    (10_032, 995_000_000),
    (24_094, 999_600_000),
    (100_000, 999_990_000),
    (1_000_000, 1_000_000_000),
];
