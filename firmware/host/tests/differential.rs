//! The firmware against the responder of `wiregauge serve`: random hosts on bad lines, any cutting, any room.

use proptest::prelude::*;
use wiregauge_firmware_host::differential::{
    FLUSH, Giving, MAX_FRAME, assert_same, of_firmware, of_rust,
};
use wiregauge_firmware_host::recipe::cook;

fn flushed(mut stream: Vec<u8>) -> Vec<u8> {
    stream.extend([0; FLUSH]);
    stream
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn they_answer_alike_however_it_is_cut(
        recipe in prop::collection::vec(any::<u8>(), 0..200),
        pieces in prop::collection::vec(1_usize..300, 1..8),
        rooms in prop::collection::vec(1_usize..200, 1..8),
    ) {
        let stream = flushed(cook(&recipe, MAX_FRAME, false));
        let expected = of_rust(&stream, &[1]);
        assert_same(&expected, &of_rust(&stream, &pieces));
        assert_same(&expected, &of_firmware(&stream, &pieces, &rooms, Giving::WhenFull));
    }

    #[test]
    fn they_answer_alike_with_streams_both_ways(
        recipe in prop::collection::vec(any::<u8>(), 0..200),
        rooms in prop::collection::vec(1_usize..200, 1..8),
    ) {
        let stream = flushed(cook(&recipe, MAX_FRAME, true));
        let expected = of_rust(&stream, &[1]);
        assert_same(&expected, &of_firmware(&stream, &[1], &rooms, Giving::Always));
    }
}
