# Whether a goal (">=N", "<=N", or "": none) is met by v with the quartiles q1 and q3; unclear when it lies between those.
BEGIN {
    if (goal == "") {
        exit
    }
    bound = substr(goal, 3) + 0
    if (q1 < bound && bound < q3) {
        print "unclear"
    } else {
        print ((substr(goal, 1, 1) == ">") ? v + 0 >= bound : v + 0 <= bound) ? "yes" : "NO"
    }
}
